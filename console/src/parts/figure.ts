export { figure } from '../../../src/platform/text/figure.ts';
