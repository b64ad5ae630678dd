// breaks: services-talk-over-nats
import { payoutView } from '../../../payouts/src/views.ts';

export const readPayout = payoutView;
