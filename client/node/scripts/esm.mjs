// Writes the ES modules of the package: they export what the CommonJS modules do, so that a program that uses both has one
// copy of each class.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const BUILD = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../build');
const require = createRequire(import.meta.url);

for (const name of ['index', 'testing', 'opentelemetry']) {
  const names = Object.keys(require(path.join(BUILD, `${name}.js`))).sort();
  fs.writeFileSync(path.join(BUILD, `${name}.mjs`),
    `import module from './${name}.js';\n\nexport const {\n  ${names.join(',\n  ')},\n} = module;\n`);
  fs.writeFileSync(path.join(BUILD, `${name}.d.mts`), `export * from './${name}.js';\n`);
}
