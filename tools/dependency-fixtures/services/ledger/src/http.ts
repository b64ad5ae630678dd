// breaks: edges-do-not-import-each-other
import { work } from './workers.ts';

export const http = work;
