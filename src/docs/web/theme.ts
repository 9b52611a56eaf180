/** Runs before anything is drawn. The setting is shared with the dashboard. */
try {
  const theme = localStorage.getItem('ftg.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
} catch {
  // Storage may be disabled; then the browser's own setting applies.
}
// The class for styles that need scripts.
document.documentElement.classList.add('scripted');
