// breaks: service-is-composed-by-main
import { service } from './service.ts';

export const work = service;
