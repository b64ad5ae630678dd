import { z } from 'zod';

/** A JSON schema of draft 2020-12, as OpenAPI 3.1 has it. */
export type JsonSchema = { [name: string]: unknown };

/** Schemas that have a name, which other schemas refer to. */
export type Components = Record<string, JsonSchema>;

/** The schema of what a zod type reads. Those with a name are added to `components`. */
export function schemaOf(type: z.ZodType, components: Components): JsonSchema {
  const { $schema: _, $defs, ...schema } = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' });
  for (const [name, named] of Object.entries($defs ?? {})) {
    const tidied = tidy(named as JsonSchema) as JsonSchema;
    const { id: _id, ...known } = tidied;
    const other = components[name];
    if (other !== undefined && JSON.stringify(other) !== JSON.stringify(known))
      throw new Error(`two schemas have the name ${name}`);
    components[name] = known;
  }
  const { id, ...tidied } = tidy(schema) as JsonSchema;
  if (typeof id !== 'string') return tidied;
  components[id] = tidied;
  return refTo(id);
}

export const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** The same schema in fewer words, with references as in a document of OpenAPI. */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  if (typeof value !== 'object' || value === null) return value;
  const tidied: JsonSchema = {};
  for (const [name, member] of Object.entries(value)) {
    if (name === '$ref') tidied[name] = String(member).replace('#/$defs/', '#/components/schemas/');
    else if (name === 'pattern') tidied[name] = String(member).replaceAll('\\/', '/');
    // Zod says of each integer that it is safe, and of each record that its keys are texts.
    else if (name === 'maximum' && member === Number.MAX_SAFE_INTEGER) continue;
    else if (name === 'minimum' && member === Number.MIN_SAFE_INTEGER) continue;
    else if (name === 'propertyNames' && JSON.stringify(member) === '{"type":"string"}') continue;
    else tidied[name] = tidy(member);
  }
  return withNull(tidied);
}

/** `type: [string, null]` where zod says `anyOf: [{ type: string }, { type: null }]`. */
function withNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...others } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || anyOf[1]?.type !== 'null') return schema;
  const [{ type, enum: values, const: only, ...first }] = anyOf as [JsonSchema];
  if (type === undefined) return schema;
  return {
    ...first,
    ...others,
    type: [type, 'null'].flat(),
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...(only !== undefined && { enum: [only, null] }),
  };
}

/** A query parameter is never null: it is left out. */
export function withoutNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, ...others } = schema;
  const types = [type].flat().filter((one) => one !== 'null');
  return {
    ...(type !== undefined && { type: types.length === 1 ? types[0] : types }),
    ...(Array.isArray(values) && { enum: values.filter((one) => one !== null) }),
    ...others,
  };
}
