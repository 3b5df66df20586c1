// Before the first paint, so that a dark page never flashes white.
(function () {
  var wanted = null
  try {
    wanted = JSON.parse(localStorage.getItem('interlace.preferences') || '{}').state
  } catch {
    wanted = null
  }
  var theme = (wanted && wanted.theme) || 'system'
  var dark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.classList.toggle('dark', dark)
})()
