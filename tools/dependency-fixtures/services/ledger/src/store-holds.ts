// breaks: operations-are-called-from-above
import { voidHold } from './operations/void-hold.ts';

export const remember = voidHold;
