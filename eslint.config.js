import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { restrictions } from './tools/eslint-restrictions.ts';

/**
 * The house rules. The rules that need types are oxlint's (.oxlintrc.json), which has a compiler in machine code: eslint takes
 * three times as long over them. Everything else is biome's, which is a hundred times quicker.
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
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
  },
);
