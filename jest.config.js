import { existsSync } from 'node:fs';

/** Starts one Postgres for all suites that need one and stops it after the last. */
const engines = {
  globalSetup: 'testing/testkit/src/global-setup.ts',
  globalTeardown: 'testing/testkit/src/global-teardown.ts',
};

const shared = {
  rootDir: import.meta.dirname,
  testEnvironment: 'node',
  // Tests import what they use from @jest/globals, as TypeScript sees it.
  injectGlobals: false,
  // The temporary files of a run go with it.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  // Suites are loaded by Node itself, which takes their types away: nothing is rewritten.
  runner: '<rootDir>/tools/runner/runner.ts',
  transform: {},
  // Engines and their data are many files that no test imports.
  modulePathIgnorePatterns: [
    '<rootDir>/.engines/',
    '<rootDir>/.sandbox/',
    '<rootDir>/tools/dependency-fixtures/',
  ],
};

const withEngines = Object.fromEntries(
  Object.entries(engines)
    .filter(([, path]) => existsSync(new URL(path, import.meta.url)))
    .map(([hook, path]) => [hook, `<rootDir>/${path}`]),
);

export default {
  // Jest reads this here only: in a project it is accepted and ignored. A test that takes longer says so itself;
  // what is run at full size takes as long as it takes.
  testTimeout: [process.env['FAULTS'], process.env['PROOFS']].includes('full') ? 600_000 : 60_000,
  reporters: ['default', '<rootDir>/tools/closing-line.ts'],
  testSequencer: '<rootDir>/tools/slowest-first.ts',
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: [
        '<rootDir>/{packages,services,apps,testing,integrations}/*/src/**/*.test.ts',
        '<rootDir>/tools/*.test.ts',
      ],
    },
    {
      ...shared,
      ...withEngines,
      displayName: 'integration',
      testMatch: [
        '<rootDir>/{packages,services,apps,testing}/*/test/**/*.test.ts',
        '<rootDir>/test/{privileges,releases,alerts}/**/*.test.ts',
      ],
    },
    {
      ...shared,
      displayName: 'e2e',
      testMatch: ['<rootDir>/test/{e2e,drills}/**/*.test.ts'],
    },
    {
      ...shared,
      displayName: 'browser',
      testMatch: ['<rootDir>/test/browser/**/*.test.ts'],
    },
    {
      ...shared,
      ...withEngines,
      displayName: 'chain-scenarios',
      testMatch: ['<rootDir>/test/{chain-scenarios,simulation,interleavings}/**/*.test.ts'],
    },
    {
      ...shared,
      displayName: 'medusa',
      testMatch: ['<rootDir>/test/medusa/**/*.test.ts'],
    },
    {
      ...shared,
      displayName: 'containers',
      globalSetup: '<rootDir>/testing/testkit/src/global-setup-images.ts',
      testMatch: ['<rootDir>/test/containers/**/*.test.ts'],
    },
    {
      ...shared,
      ...withEngines,
      displayName: 'faults',
      testMatch: ['<rootDir>/test/faults/**/*.test.ts'],
    },
  ],
};
