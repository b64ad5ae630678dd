// breaks: cycle
import { hen } from './hen.ts';

export const egg = () => hen;
