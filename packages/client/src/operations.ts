import type { operations } from './api-types.ts';

/* The types of what is sent and answered, by the names that the reference of the API gives its operations. */

type OperationId = keyof operations;
type Success = 200 | 201 | 202;
type Responses<Id extends OperationId> = operations[Id]['responses'];

/** The JSON of the answer. */
export type Answer<Id extends OperationId> = Responses<Id>[keyof Responses<Id> & Success] extends infer Found
  ? Found extends { content: { 'application/json': infer Json } }
    ? Json
    : never
  : never;

/** What the API wraps in `data`. */
export type Data<Id extends OperationId> = Answer<Id> extends { data: infer Wrapped } ? Wrapped : never;

/** An item of a list. */
export type Item<Id extends OperationId> = Data<Id> extends readonly (infer One)[] ? One : never;

/** A date may be given as a text in ISO 8601, or as a Date. */
type WithDates<T> = {
  [Name in keyof T]: Name extends
    | `${string}_from`
    | `${string}_to`
    | 'from'
    | 'to'
    | 'valid_until'
    | 'expires_at'
    ? T[Name] | Date
    : T[Name];
};

/** The JSON that is sent. */
export type Body<Id extends OperationId> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer Json } } | undefined;
}
  ? WithDates<Json>
  : never;

/** The query parameters, without those that the client gives itself. */
export type Query<Id extends OperationId> = operations[Id]['parameters'] extends { query?: infer Given }
  ? WithDates<Omit<NonNullable<Given>, 'format'>>
  : never;

/** The same for a CSV file, which has no pages. */
export type CsvQuery<Id extends OperationId> = Omit<
  Query<Id>,
  'page' | 'perPage' | 'limit' | 'starting_after' | 'ending_before' | 'expand'
>;
