// breaks: edges-stand-beside-each-other
import { work } from './workers.ts';

export const http = work;
