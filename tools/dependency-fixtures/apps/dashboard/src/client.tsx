// breaks: dashboard-is-a-client
import { bus } from '../../../packages/shared/src/bus.ts';

export const send = bus;
