/** Runs before anything is drawn. The choice is the dashboard's own: one for both. */
try {
  const theme = localStorage.getItem('ftg.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
} catch {
  // Storage may be switched off; then the browser's own colours hold.
}
// What only works with scripts is styled for them.
document.documentElement.classList.add('scripted');
