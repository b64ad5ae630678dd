#!/usr/bin/env node
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { run } from './run.ts';
import { CHECKOUT_SANDBOX } from './sandbox-folder.ts';

// `quittance … | head` has read enough: the code is that of any program that a closed pipe ends.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(141);
});

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  sandbox: CHECKOUT_SANDBOX,
  out: (said) => process.stdout.write(said),
  err: (said) => process.stderr.write(said),
  input: async () => (process.stdin.isTTY ? undefined : await text(process.stdin)),
  ask: async (question, echo) => (process.stdin.isTTY ? await ask(question, echo) : undefined),
  showSecret: process.stderr.isTTY ? (text) => process.stderr.write(text) : undefined,
  stopping() {
    const stop = new AbortController();
    // Not once: the signal of a terminal comes twice, the second time from bin/quittance.mjs.
    for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => stop.abort());
    return stop.signal;
  },
});

/** What is typed hidden is written nowhere: the terminal echoes nothing while readline reads it. */
async function ask(question: string, echo: 'shown' | 'hidden'): Promise<string> {
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = echo === 'shown' ? process.stderr : nowhere;
  const reader = createInterface({ input: process.stdin, output, terminal: true });
  const answer = await reader.question('');
  reader.close();
  if (echo === 'hidden') process.stderr.write('\n');
  return answer;
}
