// Runs the JavaScript of documents against a daemon, each document as one program.
//
//   node scripts/run-docs.mjs PROJECT DOCUMENT...
//
// PROJECT is a folder in which the package is installed. The daemon is that of the environment variable ARMATURED. The address
// localhost:7700 of a document becomes that of the daemon. Blocks whose first line has `not run` are left out.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const [project, ...documents] = process.argv.slice(2);
const require = createRequire(path.resolve(project, 'package.json'));
const { start } = require('@armaturedb/client/testing');

function program(document, address) {
  const text = fs.readFileSync(document, 'utf8');
  const blocks = [...text.matchAll(/^```js( [^\n]*)?\n(.*?)^```$/gms)].filter(([, head = '']) => !head.includes('not run'));
  if (blocks.length === 0) throw new Error(`${document} has no JavaScript`);
  return blocks.map(([, , code]) => code).join('\n').replaceAll('localhost:7700', address);
}

async function run(document) {
  const daemon = await start({ flags: ['--durability=os'] });
  const file = path.resolve(project, `${path.basename(document, '.md')}-${process.pid}.mjs`);
  try {
    fs.writeFileSync(file, program(document, daemon.address));
    const child = spawn(process.execPath, [file], { stdio: ['ignore', 'inherit', 'inherit'], timeout: 60_000 });
    const code = await new Promise((resolve) => child.once('close', resolve));
    if (code !== 0) throw new Error(`the program of ${document} has ended with ${code}`);
  } finally {
    fs.rmSync(file, { force: true });
    await daemon.stop();
  }
}

for (const document of documents) await run(document);
