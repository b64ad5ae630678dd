// breaks: unresolvable
import { nothing } from './nowhere.ts';

export const read = nothing;
