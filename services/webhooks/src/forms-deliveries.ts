import { type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, form, rules } from '@quittance/shared/validation';
import { deliveryStates } from './domain/delivery-state.ts';
import { tellableKinds } from './domain/kinds.ts';

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 20;
const DAY = 24 * 3_600_000;
/** What is older is not kept. */
const REPLAYED_DAYS_MAX = 90;

/** Which deliveries of an endpoint are listed; `before` is a number of the sequence. */
export const readDeliveriesQuery = form({
  status: rules.oneOf(deliveryStates).optional,
  event: rules.oneOf(tellableKinds).optional,
  before: rules.integer(1, Number.MAX_SAFE_INTEGER).optional,
  limit: rules.integer(1, LIMIT_MAX).or(LIMIT_DEFAULT),
});

const replayForm = form({
  from: rules.date().required,
  to: rules.date().required,
  events: rules.listOf(tellableKinds).optional,
  include_delivered: rules.boolean().or(false),
});

type ReplayFields = { from: Date; to: Date; events: string[] | null; include_delivered: boolean };

/** The events to send again: those of a range of time that is not empty and still kept. */
export function readReplay(body: unknown, now: Date): Result<ReplayFields, FieldErrors> {
  const read = replayForm(body);
  if (!read.ok) return read;
  const { from, to } = read.value;
  const oldest = new Date(now.getTime() - REPLAYED_DAYS_MAX * DAY);
  if (from < oldest)
    return refuse({ from: [`The from must be a date after or equal to ${oldest.toISOString()}.`] });
  if (from >= to) return refuse({ to: ['The to must be a date after from.'] });
  return read;
}
