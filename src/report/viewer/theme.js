// Switches between the dark and the light theme. The page follows the system until the reader chooses, and keeps the
// choice if the browser allows it.

const themeKey = "depyf-report-theme";

/** @returns {string} "dark", "light", or empty if the user has not chosen */
function storedTheme() {
  try {
    return localStorage.getItem(themeKey) || "";
  } catch (error) {
    return "";
  }
}

/** @param {string} theme */
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(themeKey, theme);
  } catch (error) {
    // Without storage the choice is lost when the page is closed.
  }
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

if (storedTheme()) document.documentElement.dataset.theme = storedTheme();
