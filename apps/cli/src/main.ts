#!/usr/bin/env node
import { text } from 'node:stream/consumers';
import { run } from './run.ts';
import { CHECKOUT_SANDBOX } from './sandbox-folder.ts';

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  sandbox: CHECKOUT_SANDBOX,
  out: (said) => process.stdout.write(said),
  err: (said) => process.stderr.write(said),
  input: async () => (process.stdin.isTTY ? undefined : await text(process.stdin)),
  stopping() {
    const stop = new AbortController();
    process.once('SIGTERM', () => stop.abort());
    process.once('SIGINT', () => stop.abort());
    return stop.signal;
  },
});
