import type { HandlersOf } from '@quittance/shared/process-messages';
import { type MerchantEvent, recordEvents } from './operations/events.ts';
import type { Ports } from './ports.ts';

/** Webhooks treats all events that merchants can receive alike, and receives no others. */
export const handlers: HandlersOf<'webhooks', Pick<Ports, 'clock' | 'mailer'>> = {
  '*': (trx, events, ports) => recordEvents(trx, events as readonly MerchantEvent[], ports),
};
