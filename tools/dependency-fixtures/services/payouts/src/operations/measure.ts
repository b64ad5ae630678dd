// breaks: services-import-packages
import { bench } from '../../../../bench/main.ts';

export const measure = bench;
