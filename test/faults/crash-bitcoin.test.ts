import { crashMatrix } from './crash-matrix.ts';
import { scenes } from './crash-rows.ts';

crashMatrix(scenes.bitcoin);
