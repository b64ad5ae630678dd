import { type EventKind, events } from '@quittance/shared/events';

/** What merchants are told of: those events are delivered to their endpoints. */
export const isMerchantKind = (kind: string): boolean =>
  Object.hasOwn(events, kind) && events[kind as EventKind].to.some((to) => to === 'webhooks');
