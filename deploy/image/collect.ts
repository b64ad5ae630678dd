import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { dependenciesOf, isOwn } from './installed-packages.ts';

/**
 * node collect.ts CHECKOUT SERVICE OUT
 *
 * Copies into OUT a service or app of the workspace with all that it needs at run time: the workspace's own packages
 * without their tests, and the installed packages that something depends on, without the files that only compilers and
 * people read. The folders keep their places relative to each other, so links and relative paths stay right. A `start.ts`
 * runs the main.ts of the service, and a `health.sh` asks it how it is. `sandbox` is everything: all services, and the
 * databases and chain nodes that they need.
 *
 * `pnpm deploy` would put the workspace's own packages below node_modules, where Node runs no TypeScript.
 */
const [checkout = '', name = '', out = ''] = process.argv.slice(2);
const root = realpathSync(checkout);
/** Where the Dockerfile puts the one of NATS_IMAGE. */
const NATS_SERVER = '/nats-server';

/** What of a workspace package is not run, beside the tests that are beside its sources. */
const NOT_RUN = ['node_modules', 'test'];
const isTest = (path: string) => /\.test\.ts$/.test(path);
/**
 * What nobody reads at run time in an installed package: TypeScript, which Node does not run there, maps, what is written
 * for people, the package's own tests, its second copy of itself for `require`, where it has one for `import`, or those
 * for bundlers, where Node loads another one, and its copies for browsers and telephones, where it has one for Node. Licences stay.
 */
const isUnread = (path: string) =>
  (/\.(?:map|flow|markdown|md|[cm]?ts)$/i.test(path) && !/licen[cs]e|notice/i.test(basename(path))) ||
  (/^(?:tests?|__tests__)$/.test(basename(path)) && existsSync(join(dirname(path), 'package.json'))) ||
  (basename(path) === '_cjs' && existsSync(join(dirname(path), '_esm'))) ||
  (/\/dist\/cjs$/.test(path) && existsSync(join(dirname(path), 'esm'))) ||
  (/\/build\/es(?:m|next)$/.test(path) && existsSync(join(dirname(path), 'src'))) ||
  // Those of Amazon: Node loads the other one, with `import` as well.
  (/@(?:aws-sdk|smithy)\/[^/]+\/dist-es$/.test(path) && existsSync(join(dirname(path), 'dist-cjs'))) ||
  (FOR_OTHERS.test(path) && existsSync(path.replace(FOR_OTHERS, '.node.$1')));
const FOR_OTHERS = /\.(?:browser|native)\.([cm]?js)$/;

/** Who may be told where to send traces. Of the others' images what sends them is left out. */
const TRACED = ['invoices', 'payouts', 'ledger', 'webhooks', 'sandbox'];
const sendsTraces = (path: string) => /@opentelemetry\/(?!api$)/.test(path);

const taken = new Set<string>();

/** `folder` is the real path of a package; what it depends on follows. */
function take(folder: string): void {
  if (taken.has(folder)) return;
  taken.add(folder);
  const own = isOwn(folder);
  const target = join(out, relative(root, folder));
  if (own) {
    mkdirSync(target, { recursive: true });
    for (const part of readdirSync(folder).filter((name) => !NOT_RUN.includes(name))) {
      copy(join(folder, part), join(target, part), isTest);
    }
  } else {
    copy(folder, target, isUnread);
    // Those of the libraries of Postgres, which the package's own script makes: no script was run.
    if (existsSync(join(folder, 'native', 'pg-symlinks.json')))
      execFileSync(process.execPath, [join('scripts', 'hydrate-symlinks.js')], { cwd: target });
  }
  for (const path of dependenciesOf(folder)) if (TRACED.includes(name) || !sendsTraces(path)) link(path);
}

function copy(from: string, to: string, without: (path: string) => boolean): void {
  if (!existsSync(from)) return;
  cpSync(from, to, {
    recursive: true,
    // The links of an installed package are beside it, and are made one by one.
    filter: (path) => basename(path) !== 'node_modules' && !without(path),
  });
}

/** Makes the same link in OUT and takes what it leads to. */
function link(path: string): void {
  const target = join(out, relative(root, path));
  const leadsTo = realpathSync(path);
  if (leadsTo !== path && !existsSync(target)) {
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(readlinkSync(path), target);
  }
  take(leadsTo);
}

/** The operator's command brings every service's tables up to date, and compares them with their snapshots. */
function takeMigrations(): void {
  const services = join(root, 'services');
  for (const service of readdirSync(services)) {
    const folder = join(services, service, 'migrations');
    if (existsSync(folder)) copy(folder, join(out, 'services', service, 'migrations'), isTest);
    copy(join(services, service, 'schema.sql'), join(out, 'services', service, 'schema.sql'), isTest);
  }
}

/** The gateway shows the documents as pages. */
const takeDocuments = (): void =>
  copy(join(root, 'docs'), join(out, 'docs'), (path) => /\.(?:png|webp)$/.test(path));

/** The gateway serves what is built of it: its packages stay behind. */
function takeDashboard(): void {
  const dashboard = join(root, 'apps', 'dashboard');
  const vite = join(dashboard, 'node_modules', 'vite', 'bin', 'vite.js');
  const target = join(out, 'apps', 'dashboard', 'dist');
  execFileSync(process.execPath, [vite, 'build', '--logLevel', 'warn', '--outDir', target, '--emptyOutDir'], {
    cwd: dashboard,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

/** The sandbox starts the services, and nats-server as testing/engines finds it in a checkout. */
function takeQuittance(): void {
  const services = join(root, 'services');
  for (const service of readdirSync(services)) take(join(services, service));
  const engines = join(out, '.engines');
  mkdirSync(engines);
  copyFileSync(NATS_SERVER, join(engines, 'nats-server'));
  writeFileSync(join(engines, 'engines.json'), JSON.stringify({ natsServer: { path: 'nats-server' } }));
}

const folder = ['services', 'apps'].map((above) => join(root, above, name)).find(existsSync);
if (name === '' || folder === undefined || !statSync(folder).isDirectory()) {
  process.stderr.write(`SERVICE is "${name}": it must be the name of a service, "cli" or "sandbox"\n`);
  process.exit(1);
}
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
take(folder);
if (name === 'cli') takeMigrations();
const isSandbox = name === 'sandbox';
if (isSandbox || name === 'gateway') {
  takeDocuments();
  takeDashboard();
}
if (isSandbox) takeQuittance();
const main = isSandbox ? 'apps/sandbox/src/image-main.ts' : `${relative(root, folder)}/src/main.ts`;
writeFileSync(join(out, 'package.json'), '{ "type": "module", "private": true }\n');
writeFileSync(join(out, 'start.ts'), `import './${main}';\n`);
if (isSandbox) writeFileSync(join(out, 'health.sh'), 'exec node /app/apps/sandbox/src/image-health.ts\n');
else cpSync(join(import.meta.dirname, 'health.sh'), join(out, 'health.sh'));
