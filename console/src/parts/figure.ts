export { figure } from '../../../src/vocabulary/values/figure.ts';
