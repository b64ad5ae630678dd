import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { root } from './tracked-files.ts';

const DIGEST = `sha256:${'ab'.repeat(32)}`;
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'quittance-pin-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** Runs the script on a file, with a `docker` that answers to `pull` as the real one does. */
function pin(text: string, docker = `echo "18: Pulling from library/x"; echo "Digest: ${DIGEST}"`) {
  const file = join(dir, 'env');
  writeFileSync(file, text, { mode: 0o600 });
  writeFileSync(join(dir, 'docker'), `#!/bin/sh\necho "$@" >> '${dir}/asked'\n${docker}\n`);
  chmodSync(join(dir, 'docker'), 0o755);
  const env = { ...process.env, PATH: `${dir}:${process.env['PATH']}` };
  const { status, stdout, stderr } = spawnSync('sh', [join(root, 'deploy/pin-images.sh'), file], {
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr, file: readFileSync(file, 'utf8'), mode: statSync(file).mode & 0o777 };
}

test('images of .env get digests, and everything else stays as it is', () => {
  const before = [
    '# POSTGRES_IMAGE=x:1',
    'IMAGE_TAG=latest',
    'POSTGRES_IMAGE=postgres:18',
    '  odd  line \\n',
    'NATS_IMAGE=registry.example:5000/nats:2.12@sha256:old',
    'REDIS_IMAGE=',
    'SECRET=a=b$c',
  ];
  const { status, stdout, file, mode } = pin(before.join('\n'));
  const after = [...before];
  after[2] = `POSTGRES_IMAGE=postgres:18@${DIGEST}`;
  after[4] = `NATS_IMAGE=registry.example:5000/nats:2.12@${DIGEST}`;
  expect(file).toBe(`${after.join('\n')}\n`);
  expect(stdout).toBe(`${after[2]}\n${after[4]}\n`);
  expect([status, mode]).toEqual([0, 0o600]);
  expect(readFileSync(join(dir, 'asked'), 'utf8')).toBe(
    'pull postgres:18\npull registry.example:5000/nats:2.12\n',
  );
});

test('when an image cannot be fetched, has no digest or no tag, .env is as it was', () => {
  const text = 'POSTGRES_IMAGE=postgres:18\nNATS_IMAGE=nats:2.12\n';
  const second = (otherwise: string) =>
    `case "$2" in nats*) ${otherwise};; *) echo "Digest: ${DIGEST}";; esac`;
  expect(pin(text, second('echo "no route" >&2; exit 1'))).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('no route'),
    file: text,
  });
  const untagged = `${text}REDIS_IMAGE=registry.example:5000/redis@${DIGEST}\n`;
  expect(pin(untagged)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('registry.example:5000/redis has no tag'),
    file: untagged,
  });
  expect(pin(text, second('echo "Status: local"'))).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('docker pull says no digest of nats:2.12'),
    file: text,
  });
});
