import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { restrictions } from './tools/eslint-restrictions.ts';

/**
 * The house rules, and the rules that need types; everything else is biome's, which is a hundred times quicker.
 * A promise that nobody awaits is the worst of them: with knex it is a query that never runs.
 *
 * no-unnecessary-condition is left out on purpose: it takes a flag that another function sets during an await
 * for a constant, and asks to delete the very check that matters.
 */
export default defineConfig(
  {
    ignores: [
      '**/*.js',
      '**/*.cjs',
      'apps/dashboard/dist/**',
      'tools/dependency-fixtures/**',
      'packages/client/src/api-types.ts',
    ],
  },
  ...restrictions,
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      // checkThenables: knex builders are no promises, they only have a `then`.
      // node:test's own functions say themselves how it ended.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          checkThenables: true,
          allowForKnownSafeCalls: [{ from: 'package', package: 'node:test', name: ['test'] }],
        },
      ],
      '@typescript-eslint/no-misused-promises': 'error',
      // What was caught and kept is `unknown`, and may be thrown on.
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true }],
      // A `default` does not make a switch over a union exhaustive: it would hide the case that comes later.
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: false, requireDefaultForNonUnion: true },
      ],
    },
  },
);
