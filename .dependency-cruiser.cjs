/**
 * Who may import whom. `test/canary` holds one planted offence for each rule below; `npm run check` cruises it
 * too and fails when one is not found: without a resolvable typescript this tool skips every .ts file in silence.
 */

// The canary is a small copy of the tree, so that the very same expressions judge it.
const root = '^(?:test/canary/)?';
const anyService = `${root}services/[^/]+/src/`;
const thisService = `${root}services/([^/]+)/src/`;
const sameService = `${root}services/$1/src/`;
// store.ts, store-holds.ts and store/holds.ts are all of the store.
const edge = '(?:http|consumers|workers)[-./]';
const below = '(?:domain/|(?:store|views|config)[-./])';
const beside = '\\.test\\.ts$';

/** Rooms that exist to start, test or measure the product, and are not in it. */
const outside = `${root}(?:packages/(?:testkit|engines|cli)|sandbox|test(?!/canary/)|bench|scripts)/`;
/** Files of packages/shared without clock, chance or IO. */
const pureShared = `${root}packages/shared/src/(?:assets|commands|events|ids|money|result)\\.ts$`;
/** What a quote is belongs to many decisions; the rest of the file watches for new ones. */
const quotes = `${root}packages/shared/src/quotes\\.ts$`;

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'unresolvable',
      comment: 'An import that leads nowhere is not judged by any other rule.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'cycle',
      comment:
        'Modules that need each other are one module. Types may point back: they are gone at run time.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
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
        'service.ts imports the edges and they import the operations; from below only its types are taken.',
      severity: 'error',
      from: { path: `${thisService}(?!main\\.ts$)` },
      to: { path: `${sameService}service\\.ts$`, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'edges-are-imported-by-service',
      comment:
        'http, consumers and workers call operations; operations and what lies below never know who called.',
      severity: 'error',
      from: { path: `${thisService}(?:operations/|${below})` },
      to: { path: `${sameService}${edge}` },
    },
    {
      name: 'edges-stand-beside-each-other',
      comment: 'http, consumers and workers share what they do by calling the same operation.',
      severity: 'error',
      from: { path: `${root}services/([^/]+)/src/(http|consumers|workers)[-./]` },
      to: { path: `${sameService}${edge}`, pathNot: `${sameService}$2[-./]` },
    },
    {
      name: 'operations-are-called-from-above',
      comment: 'domain decides, store remembers; the story that uses them is told one floor up.',
      severity: 'error',
      from: { path: `${thisService}${below}` },
      to: { path: `${sameService}operations/` },
    },
    {
      name: 'domain-is-pure',
      comment:
        'A decision takes what it needs as arguments: no clock, no chance, no IO, so only its own room, zod, ipaddr.js and ' +
        'the pure files of packages/shared (listed in .dependency-cruiser.cjs).',
      severity: 'error',
      from: { path: `${thisService}domain/`, pathNot: beside },
      to: {
        pathNot: [`${sameService}domain/`, pureShared, quotes, '(?:^|/)node_modules/(?:zod|ipaddr\\.js)/'],
      },
    },
    {
      name: 'domain-is-given-its-quote',
      comment: 'A decision takes a quote as an argument; of quotes.ts it knows the types alone.',
      severity: 'error',
      from: { path: `${thisService}domain/`, pathNot: beside },
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
      name: 'services-stay-in-production',
      comment: 'testkit, engines, sandbox, cli, tests and scripts are not there when a service runs.',
      severity: 'error',
      from: { path: [anyService, `${root}packages/(?:shared|chains)/src/`], pathNot: beside },
      to: { path: outside },
    },
    {
      name: 'books-are-the-auditors',
      comment:
        'Who checks the books shares nothing with who writes them: a mistake of theirs must not be made twice.',
      severity: 'error',
      from: { path: `${root}(?:services/(?!auditor/)[^/]+|packages/chains)/src/` },
      to: { path: `${root}packages/books/` },
    },
    {
      name: 'tests-are-imported-by-nobody',
      comment:
        'A file beside or below a test folder runs tests when it is imported; share builders in testkit.',
      severity: 'error',
      from: { path: [`${root}(?:services|packages)/[^/]+/src/`, `${root}sandbox/`] },
      to: { path: [beside, '^test/(?!canary/)', `${root}(?:services|packages)/[^/]+/test/`] },
    },
    {
      name: 'shared-stands-alone',
      comment: 'packages/shared is below everything: no service and no other package.',
      severity: 'error',
      from: { path: `${root}packages/shared/src/`, pathNot: beside },
      to: { path: `${root}(?:packages|services|sandbox)/`, pathNot: `${root}packages/shared/` },
    },
    {
      name: 'packages-know-no-service',
      comment: 'A package is used by services, never the other way round.',
      severity: 'error',
      from: { path: `${root}packages/(?:shared|chains|engines|books)/` },
      to: { path: `${root}services/` },
    },
    {
      name: 'services-are-entered-by-operations',
      comment: 'cli, sandbox and testkit do what a service does by calling its operations.',
      severity: 'error',
      from: { path: `${root}(?:packages/(?:cli|testkit)|sandbox)/` },
      to: { path: `${root}services/`, pathNot: `${root}services/[^/]+/(?:src/operations|migrations)/` },
    },
    {
      name: 'testkit-is-for-tests',
      comment: 'Only tests and the benchmark may import testkit.',
      severity: 'error',
      from: {
        path: [`${root}(?:services|packages)/[^/]+/src/`, `${root}(?:sandbox|scripts)/`],
        pathNot: [`${root}packages/testkit/`, beside],
      },
      to: { path: `${root}packages/testkit/` },
    },
    {
      name: 'engines-are-for-sandbox-and-tests',
      comment:
        'Databases, brokers and nodes are started by the sandbox, testkit, tests and the benchmark alone.',
      severity: 'error',
      from: {
        pathNot: `${root}(?:packages/(?:engines|testkit)|sandbox|test(?!/canary/)|bench|(?:services|packages)/[^/]+/test)/`,
      },
      to: { path: `${root}packages/engines/` },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^test/canary' },
    // `import type` counts too: a rule speaks of what a file knows, not of what it loads.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      mainFields: ['module', 'main', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.d.ts', '.json'],
    },
  },
};
