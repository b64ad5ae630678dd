import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';

/* The types of the client, which tools/generate-docs.ts writes. */

const HEAD =
  '// Written by tools/generate-docs.ts from the document of the API, services/gateway/openapi.json.\n';

/** As the formatter has it. */
const LINE_MAX = 110;

type Operation = { responses?: Record<string, { headers?: unknown }> };
type Document = OpenAPI3 & { paths: Record<string, Record<string, Operation>> };

/** They are on the pages of the reference. */
const withoutExamples = (name: string, value: unknown): unknown =>
  name === 'example' || name === 'examples' ? undefined : value;

/**
 * The text of packages/client/src/api-types.ts. Errors have classes in the client, and operations have all that paths have:
 * their types are left out. So are empty ones.
 * @param text the OpenAPI document
 */
export async function clientTypes(text: string): Promise<string> {
  const { components, ...document }: Document = JSON.parse(text, withoutExamples);
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    const answers = Object.entries(operation.responses ?? {}).filter(([status]) => status.startsWith('2'));
    operation.responses = Object.fromEntries(
      answers.map(([status, { headers: _, ...one }]) => [status, one]),
    );
  }
  const kept = { ...document, webhooks: {}, components: { schemas: components?.schemas ?? {} } };
  const types = astToString(await openapiTS(kept, { defaultNonNullable: false }));
  return (
    HEAD +
    types.replaceAll(
      /^export interface paths \{[\s\S]*?^\}\n|^export type .* = Record<string, never>;\n/gm,
      '',
    )
  );
}

/**
 * The text of packages/client/src/scopes.ts: what each scope allows, in the words of the document.
 * @param text the OpenAPI document
 */
export function scopeMeanings(text: string): string {
  const { components }: Document = JSON.parse(text);
  const { 'x-enum-descriptions': meanings } = (components?.schemas?.['Scope'] ?? {}) as Record<
    string,
    unknown
  >;
  const lines = Object.entries(meanings as Record<string, string>).map(([scope, meaning]) => {
    const value = `'${meaning.replaceAll("'", "\\'")}',`;
    const line = `  '${scope}': ${value}`;
    return line.length > LINE_MAX ? `  '${scope}':\n    ${value}` : line;
  });
  return `${HEAD}import type { components } from './api-types.ts';

/** What an API token may be allowed to do. */
export type Scope = components['schemas']['Scope'];

/** What each scope allows, in English. */
export const scopeMeanings: Readonly<Record<Scope, string>> = {
${lines.join('\n')}
};
`;
}
