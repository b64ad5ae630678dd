/**
 * Which file may import which. `tools/dependency-fixtures` holds one violation of each rule below; `npm run check` cruises
 * it too and fails when one is not found: without a resolvable typescript this tool skips every .ts file in silence.
 *
 * The layers, each importing only from those on its right:
 *
 *     apps, test, bench, tools -> testing -> services -> packages
 */

// The fixtures are a small copy of the tree, so that the same expressions apply to it.
const fixtures = 'tools/dependency-fixtures/';
const root = `^(?:${fixtures})?`;
const anyService = `${root}services/[^/]+/src/`;
const thisService = `${root}services/([^/]+)/src/`;
const sameService = `${root}services/$1/src/`;
// http.ts, http-payouts.ts and http/payouts.ts are all part of the edge.
const edge = '(?:http|consumers|handlers|workers)[-./]';
const below = '(?:domain/|(?:store|views|config)[-./])';
const unitTest = '\\.test\\.ts$';
/** Suites beside the sources of a workspace: they run only in a checkout and may import from testing/. */
const suites = `${root}(?:apps|packages|services|testing)/[^/]+/test/`;

/** What starts, tests or measures the product and is not part of it. */
const notTheProduct = `${root}(?:apps|testing|test|bench|tools(?!/dependency-fixtures/))/`;
/** Files of packages/shared without clock, randomness or IO. */
const pureShared = `${root}packages/shared/src/(?:assets|commands|currencies|events|fee-ceilings|ids|metadata|money|page-language|result)\\.ts$`;
/** Many decisions need the type of a quote; the rest of the file watches for new ones. */
const quotes = `${root}packages/shared/src/quotes\\.ts$`;

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'unresolvable',
      comment: 'No other rule can judge an import that leads nowhere.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'cycle',
      comment: 'Modules that import each other, be it for types alone, are one module.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'packages-import-packages',
      comment: 'packages/ are libraries: they import no service, no app and nothing that only tests use.',
      severity: 'error',
      from: { path: `${root}packages/`, pathNot: [unitTest, suites] },
      to: { path: [`${root}services/`, notTheProduct] },
    },
    {
      name: 'services-import-packages',
      comment: 'A service runs without apps, testing, test, bench and tools.',
      severity: 'error',
      from: { path: `${root}services/`, pathNot: [unitTest, suites] },
      to: { path: notTheProduct },
    },
    {
      name: 'testing-imports-services',
      comment: 'testing/ starts services and engines for suites, the sandbox and the benchmark.',
      severity: 'error',
      from: { path: `${root}testing/` },
      to: { path: `${root}(?:apps|test|bench|tools(?!/dependency-fixtures/))/` },
    },
    {
      name: 'cli-runs-in-production',
      comment: "The operator's command is installed where no engine and no testkit is.",
      severity: 'error',
      from: { path: `${root}apps/cli/`, pathNot: [unitTest, suites] },
      to: { path: `${root}testing/` },
    },
    {
      name: 'suites-are-not-imported',
      comment:
        'A file in a test folder may start tests when it is imported; shared builders belong to testing/.',
      severity: 'error',
      from: { path: `${root}(?:apps|packages|services|testing)/[^/]+/src/` },
      to: { path: [unitTest, '^test/', suites] },
    },
    {
      name: 'main-is-the-top',
      comment: 'main.ts starts the process when it is imported; start it as a process.',
      severity: 'error',
      from: {},
      to: { path: `${anyService}main\\.ts$` },
    },
    {
      name: 'service-is-composed-by-main',
      comment:
        'service.ts imports the edges and they import the operations; only its types are imported from below.',
      severity: 'error',
      from: { path: `${thisService}(?!main\\.ts$)` },
      to: { path: `${sameService}service\\.ts$`, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'edges-are-imported-by-service',
      comment:
        'http, handlers and workers call operations; operations and what lies below do not know their callers.',
      severity: 'error',
      from: { path: `${thisService}(?:operations/|${below})` },
      to: { path: `${sameService}${edge}` },
    },
    {
      name: 'edges-do-not-import-each-other',
      comment: 'http, handlers and workers share code by calling the same operation.',
      severity: 'error',
      from: { path: `${root}services/([^/]+)/src/(http|consumers|handlers|workers)[-./]` },
      to: { path: `${sameService}${edge}`, pathNot: `${sameService}$2[-./]` },
    },
    {
      name: 'operations-are-called-from-above',
      comment:
        'domain decides and store reads and writes; an operation calls both, never the other way round.',
      severity: 'error',
      from: { path: `${thisService}${below}` },
      to: { path: `${sameService}operations/` },
    },
    {
      name: 'domain-is-pure',
      comment:
        'A decision takes what it needs as arguments: no clock, no randomness, no IO. It imports its own folder, zod, ' +
        'ipaddr.js, zlib (crc32) and the pure files of packages/shared (listed in .dependency-cruiser.cjs).',
      severity: 'error',
      from: { path: `${thisService}domain/`, pathNot: unitTest },
      to: {
        pathNot: [
          `${sameService}domain/`,
          pureShared,
          quotes,
          '(?:^|/)node_modules/(?:zod|ipaddr\\.js)/',
          '^zlib$',
        ],
      },
    },
    {
      name: 'domain-is-given-its-quote',
      comment: 'A decision takes a quote as an argument and imports only the types of quotes.ts.',
      severity: 'error',
      from: { path: `${thisService}domain/`, pathNot: unitTest },
      to: { path: quotes, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'services-talk-over-nats',
      comment:
        'No service imports another; what both need is an event, a command or a file of packages/shared.',
      severity: 'error',
      from: { path: `${root}services/([^/]+)/` },
      to: { path: `${root}services/`, pathNot: `${root}services/$1/` },
    },
    {
      name: 'reconciliation-is-independent',
      comment:
        'The check of the books shares no code with the services that write them, so that no mistake is made twice.',
      severity: 'error',
      from: {
        path: `${root}(?:services/(?!auditor/)[^/]+|packages/(?:chains|shared))/src/`,
        pathNot: unitTest,
      },
      to: { path: `${root}packages/reconciliation/` },
    },
    {
      name: 'shared-imports-no-package',
      comment: 'packages/shared is the lowest layer.',
      severity: 'error',
      from: { path: `${root}packages/shared/src/`, pathNot: unitTest },
      to: { path: `${root}packages/`, pathNot: `${root}packages/shared/` },
    },
    {
      name: 'client-stands-alone',
      comment:
        'packages/client runs in browsers and edge runtimes too, and is installed without another package: it imports its own files.',
      severity: 'error',
      from: { path: `${root}packages/client/src/`, pathNot: unitTest },
      to: { pathNot: `${root}packages/client/src/` },
    },
    {
      name: 'dashboard-is-a-client',
      comment:
        'apps/dashboard runs in a browser and calls the API as programs do: of this checkout it imports packages/client alone.',
      severity: 'error',
      from: { path: `${root}apps/dashboard/src/`, pathNot: unitTest },
      to: {
        path: `${root}(?:apps|packages|services|testing|test|bench|tools)/`,
        pathNot: [`${root}apps/dashboard/src/`, `${root}packages/client/src/`, '(?:^|/)node_modules/'],
      },
    },
    {
      name: 'services-are-entered-by-operations',
      comment:
        'cli, sandbox and testing/ do what a service does by calling its operations; only services-main.ts starts services.',
      severity: 'error',
      from: { path: `${root}(?:apps|testing)/`, pathNot: `${root}testing/stack/src/services-main\\.ts$` },
      to: { path: `${root}services/`, pathNot: `${root}services/[^/]+/(?:src/operations|migrations)/` },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // The second runs in a shop of Medusa, which is not installed here.
    exclude: {
      path: [
        '^tools/dependency-fixtures',
        '^test/medusa/shop/',
        '^apps/dashboard/dist/',
        // They are copied to where their packages are installed.
        '^bench/peers/programs/',
      ],
    },
    // `import type` counts too: a rule speaks of what a file knows, not of what it loads.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      mainFields: ['module', 'main', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.d.ts', '.json'],
    },
  },
};
