// breaks: client-stands-alone
import { setTimeout as sleep } from 'node:timers/promises';

export const pause = () => sleep(1);
