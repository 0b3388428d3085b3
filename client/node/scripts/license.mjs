// Copies the licence of the project into the package.

import fs from 'node:fs';

const target = new URL('../LICENSE', import.meta.url);
fs.copyFileSync(new URL('../../../LICENSE', import.meta.url), target);
