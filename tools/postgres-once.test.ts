import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';

/** How docker-compose.yml starts Postgres, run as it stands there, with a volume that two containers have. */

const compose = readFileSync(new URL('../docker-compose.yml', import.meta.url), 'utf8');
const { services } = parse(compose, { merge: true }) as {
  services: { postgres: { entrypoint: string[]; command: string[] } };
};
const { entrypoint, command } = services.postgres;
const volume = mkdtempSync(join(tmpdir(), 'quittance-volume-'));
// In place of the image's own, which ends in Postgres itself.
writeFileSync(join(volume, 'docker-entrypoint.sh'), '#!/bin/sh\necho "$@"\nexec sleep 60\n', { mode: 0o755 });
const running: ReturnType<typeof start>[] = [];
afterAll(() => {
  for (const one of running) one.kill('SIGKILL');
  rmSync(volume, { recursive: true, force: true });
});

function start() {
  const [file = '', ...args] = [...entrypoint, ...command].map((word) =>
    word.replaceAll('$$', '$').replace('/data/', `${volume}/`),
  );
  const env = { PATH: `${volume}:${process.env['PATH']}` };
  return spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function started() {
  const one = start();
  running.push(one);
  const [words] = (await once(one.stdout, 'data')) as [Buffer];
  expect(words.toString()).toBe(`${command.join(' ')}\n`);
  return one;
}

test('a second Postgres on the same data does not start and says why, until the first one has ended', async () => {
  const first = await started();
  const second = start();
  const [said, ended] = await Promise.all([text(second.stderr), once(second, 'close')]);
  expect([said, ended[0]]).toEqual([
    'another Postgres has these data, so this one does not start: Postgres is not scaled, run it without --scale\n',
    1,
  ]);
  // Also one that was killed leaves nothing behind that keeps the next one from starting.
  first.kill('SIGKILL');
  await once(first, 'close');
  await started();
});
