-- Names are looked up by their text, so that each name gets one number. A name that has two all the same keeps both, because
-- rules use them; the smaller one is its number.
CREATE INDEX name_text ON name (kind, text);
