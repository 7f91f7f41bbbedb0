# scopes.awk: does the text before a brace open a scope (namespace, class, enum, a concept's value), or a function?
function without_templates(text,    before) {
  do { before = text; gsub(/<[^<>]*>/, " ", text) } while (text != before)
  return text
}
function is_scope(text) {
  text = without_templates(text)
  if (text ~ /(^|[^A-Za-z0-9_])(namespace|enum|union|concept)([^A-Za-z0-9_]|$)/ || text ~ /extern ""[ \t]*$/) return 1
  return text ~ /(^|[^A-Za-z0-9_])(class|struct)[^A-Za-z0-9_]/ && text !~ /\)[ \t]*(const|noexcept|override|final|&|->.*)*[ \t]*$/
}
