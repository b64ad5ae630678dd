import type { Message } from '../src/process-messages.ts';

export type Outcome = 'acked' | 'handed back' | 'ended';

/** A message as NATS delivers it for the `tries`th time; `note` is told how the consumer answers it. */
export const aMessage = (
  subject: string,
  body: string,
  note: (outcome: Outcome) => unknown,
  tries = 1,
): Message => ({
  subject,
  info: { deliveryCount: tries },
  data: Buffer.from(body),
  json: () => JSON.parse(body),
  ack: () => void note('acked'),
  nak: () => void note('handed back'),
  term: () => void note('ended'),
});
