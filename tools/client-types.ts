import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';

/* The types of the client, which tools/generate-docs.ts writes. */

const HEAD =
  '// Written by tools/generate-docs.ts from the document of the API, services/gateway/openapi.json.\n';

type Operation = { responses?: Record<string, { headers?: unknown }> };
type Document = OpenAPI3 & { paths: Record<string, Record<string, Operation>> };

/**
 * The text of packages/client/src/api-types.ts. Errors have classes in the client, and operations have all that paths have:
 * their types are left out. So are empty ones.
 * @param text the OpenAPI document
 */
export async function clientTypes(text: string): Promise<string> {
  const { components, ...document }: Document = JSON.parse(text);
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    const answers = Object.entries(operation.responses ?? {}).filter(([status]) => status.startsWith('2'));
    operation.responses = Object.fromEntries(
      answers.map(([status, { headers: _, ...one }]) => [status, one]),
    );
  }
  const kept = { ...document, webhooks: {}, components: { schemas: components?.schemas ?? {} } };
  const types = astToString(await openapiTS(kept));
  return (
    HEAD +
    types.replaceAll(
      /^export interface paths \{[\s\S]*?^\}\n|^export type .* = Record<string, never>;\n/gm,
      '',
    )
  );
}
