import { z } from 'zod';

/** A JSON schema of draft 2020-12, as OpenAPI 3.1 has it. */
export type JsonSchema = { [name: string]: unknown };

/** Schemas that have a name, which other schemas refer to. */
export type Components = Record<string, JsonSchema>;

/** The schema of what a zod type reads. Those with a name are added to `components`. */
export function schemaOf(type: z.ZodType, components: Components): JsonSchema {
  const { $schema: _, $defs, ...schema } = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' });
  for (const [name, named] of Object.entries($defs ?? {})) {
    const { id: _id, ...known } = shortened(named) as JsonSchema;
    const other = components[name];
    if (other !== undefined && JSON.stringify(other) !== JSON.stringify(known))
      throw new Error(`two schemas have the name ${name}`);
    components[name] = known;
  }
  const { id, ...short } = shortened(schema) as JsonSchema;
  if (typeof id !== 'string') return short;
  components[id] = short;
  return refTo(id);
}

export const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** The same schema in fewer words, with references as in a document of OpenAPI. */
function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  const short: JsonSchema = {};
  for (const [name, member] of Object.entries(value)) {
    if (name === 'x-default') short['default'] = member;
    else if (name === '$ref') short[name] = String(member).replace('#/$defs/', '#/components/schemas/');
    else if (name === 'pattern') short[name] = String(member).replaceAll('\\/', '/');
    // Zod says of each integer that it is safe, and of each record that its keys are texts.
    else if (name === 'maximum' && member === Number.MAX_SAFE_INTEGER) continue;
    else if (name === 'minimum' && member === Number.MIN_SAFE_INTEGER) continue;
    else if (name === 'propertyNames' && JSON.stringify(member) === '{"type":"string"}') continue;
    else short[name] = shortened(member);
  }
  return withNull(short);
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

/** An answer as its readers are to take it: later versions may add fields. */
export function open<T>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (name, value: unknown) =>
    name === 'additionalProperties' && value === false ? undefined : value,
  );
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
