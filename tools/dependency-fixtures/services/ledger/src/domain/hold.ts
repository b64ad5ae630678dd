// breaks: domain-is-pure
import { systemClock } from '@quittance/shared/clock';

export const isOld = (at: Date) => at < systemClock.now();
