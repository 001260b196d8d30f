// Dark and light: as the system has it until the reader chooses. The choice is kept where the browser allows that.

const themeKey = "depyf-report-theme";

/** @returns {string} "dark", "light", or empty: as the system */
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
    // Without storage the choice lasts as long as the page.
  }
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

if (storedTheme()) document.documentElement.dataset.theme = storedTheme();
