// breaks: operations-are-called-from-above
import { placeHold } from './operations/place-hold.ts';

export type Row = { id: string };
export const insert = placeHold;
