import type { BatchHandler } from '@quittance/shared/handlers';
import { type MerchantEvent, recordEvents } from './operations/record-events.ts';
import type { Ports } from './ports.ts';

/** Takes in whatever merchants are told of: the bus hands this service nothing else. */
export const handleEvents =
  (ports: Pick<Ports, 'clock'>): BatchHandler =>
  (trx, events) =>
    recordEvents(ports, trx, events as MerchantEvent[]);
