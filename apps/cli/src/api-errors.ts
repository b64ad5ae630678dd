import { QuittanceError } from '@quittance/client';
import { reason } from '@quittance/shared/logger';
import { inLine } from './output.ts';
import { CommandError } from './surroundings.ts';

/** What the API refused, what is wrong with each field, and what to do. */
export function said({ message, errors, hint }: QuittanceError): string {
  const what = hint === undefined ? message : message.slice(0, -hint.length).trim();
  return [what, ...Object.values(errors).flat(), ...(hint === undefined ? [] : [hint])]
    .map(inLine)
    .join('\n');
}

/** The same for programs. */
export const detailsOf = ({ code, status, errors, hint, requestId }: QuittanceError): object => ({
  code,
  status,
  ...(Object.keys(errors).length > 0 && { errors }),
  hint,
  request_id: requestId,
});

const TOO_MANY = 429;
const SERVER_ERROR = 500;

/**
 * Whether the API may have carried out a request that ended so. The client has repeated it by then: what the last attempt
 * was answered says nothing of those before it.
 */
const mayBeDone = ({ status, code }: QuittanceError): boolean =>
  status === undefined || status >= SERVER_ERROR || status === TOO_MANY || code === 'request_in_progress';

/** What creates something: when it is not known whether it did, the error has the key with which repeating it is safe. */
export async function creating<T>(created: Promise<T>): Promise<T> {
  try {
    return await created;
  } catch (error) {
    if (!(error instanceof QuittanceError) || !mayBeDone(error)) throw error;
    const { idempotencyKey: key } = error;
    if (key === undefined) throw error;
    throw new CommandError(
      `${said(error)}\nIt is not known whether it was done. Repeat it with --idempotency-key ${inLine(key)}`,
      { ...detailsOf(error), idempotency_key: key },
    );
  }
}

/** Reads what was created: when that fails, the error says that it is there. */
export async function readingCreated<T>(what: string, id: string | number, read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (error) {
    const why = error instanceof QuittanceError ? said(error) : inLine(reason(error));
    throw new CommandError(`${what} ${inLine(String(id))} was created. Reading it failed: ${why}`, { id });
  }
}
