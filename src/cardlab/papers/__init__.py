"""The machinery of reports: what a paper claims, measured again (`cardlab reproduce GAME`)."""
