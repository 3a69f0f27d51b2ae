import { storedChoice } from './stored-choice.ts';

export type Theme = 'system' | 'light' | 'dark';

export const {
  start: startTheme,
  set: setTheme,
  useChoice: useTheme,
} = storedChoice<Theme>('dbvitals-theme', ['system', 'light', 'dark'], (theme) => {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
});
