// What the linter asks of the pages: its recommended rules and some that catch mistakes.

import js from "@eslint/js";
import globals from "globals";

const RULES = {
  "array-callback-return": "error",
  "consistent-return": "error",
  "default-case-last": "error",
  eqeqeq: "error",
  "no-constructor-return": "error",
  "no-eval": "error",
  "no-implicit-coercion": "error",
  "no-implied-eval": "error",
  "no-lonely-if": "error",
  "no-new-func": "error",
  "no-self-compare": "error",
  "no-shadow": "error",
  "no-template-curly-in-string": "error",
  "no-throw-literal": "error",
  "no-unmodified-loop-condition": "error",
  "no-unneeded-ternary": "error",
  "no-unused-expressions": "error",
  "no-unused-vars": ["error", { argsIgnorePattern: "^_", caughtErrors: "all" }],
  "no-useless-concat": "error",
  "no-useless-rename": "error",
  "no-useless-return": "error",
  "no-var": "error",
  "object-shorthand": "error",
  "prefer-const": "error",
  "prefer-template": "error",
  // Names of people and texts of games reach the page as text only.
  "no-restricted-properties": [
    "error",
    ...["innerHTML", "outerHTML", "insertAdjacentHTML", "write"].map((property) => ({
      ...(property === "write" ? { object: "document" } : {}),
      property,
      message: "Make elements with h() of dom.js: it never reads text as HTML.",
    })),
  ],
};

export default [
  { ignores: ["**/*", "!src/", "!src/**", "!examples/", "!examples/**", "!tests/", "!tests/javascript/**", "!*.js"] },
  js.configs.recommended,
  { linterOptions: { reportUnusedDisableDirectives: "error" }, rules: RULES },
  {
    files: ["src/cardlab/**/*.js", "examples/**/*.js"],
    languageOptions: { globals: globals.browser, sourceType: "module" },
  },
  {
    files: ["src/cardlab/web/static/theme.js"], // runs before the first paint, as a plain script
    languageOptions: { sourceType: "script" },
  },
  { files: ["*.js", "tests/javascript/**/*.js"], languageOptions: { globals: globals.node } },
];
