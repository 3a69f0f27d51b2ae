import { expect, test } from 'vitest';
import { escapeTurning, visibleText } from './visible-text.ts';

test('control and bidirectional characters are escaped, line breaks and tabs stay', () => {
  expect(visibleText('ok\r\n\tyes')).toBe('ok\n\tyes');
  expect(visibleText('\u001b[31mred\u0000 \u202egpj.exe')).toBe('\\u001b[31mred\\u0000 \\u202egpj.exe');
  expect(visibleText('a\rb\u2028c\ufeff')).toBe('a\\u000db\\u2028c\\ufeff');
});

test('an entry keeps its line breaks', () => {
  expect(escapeTurning('{\n  "name": "\u2066x"\n}')).toBe('{\n  "name": "\\u2066x"\n}');
});
