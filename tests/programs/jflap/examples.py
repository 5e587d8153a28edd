"""JFLAP files as JFLAP itself writes them, in its several versions."""

# JFLAP 7: a head, carriage returns, labels; words that end in ab, nondeterministic, with ε and a label of two letters.
ENDS_IN_AB = """<?xml version="1.0" encoding="UTF-8" standalone="no"?><!--Created with JFLAP 7.1.--><structure>&#13;
	<type>fa</type>&#13;
	<automaton>&#13;
		<!--The list of states.-->&#13;
		<state id="0" name="q0">&#13;
			<x>84.0</x>&#13;
			<y>111.0</y>&#13;
			<label>begin</label>&#13;
			<initial/>&#13;
		</state>&#13;
		<state id="1" name="q1">&#13;
			<x>251.0</x>&#13;
			<y>111.0</y>&#13;
		</state>&#13;
		<state id="2" name="q2">&#13;
			<x>401.0</x>&#13;
			<y>111.0</y>&#13;
			<final/>&#13;
		</state>&#13;
		<!--The list of transitions.-->&#13;
		<transition>&#13;
			<from>0</from>&#13;
			<to>0</to>&#13;
			<read>a</read>&#13;
		</transition>&#13;
		<transition>&#13;
			<from>0</from>&#13;
			<to>0</to>&#13;
			<read>b</read>&#13;
		</transition>&#13;
		<transition>&#13;
			<from>0</from>&#13;
			<to>1</to>&#13;
			<read>ab</read>&#13;
		</transition>&#13;
		<transition>&#13;
			<from>1</from>&#13;
			<to>2</to>&#13;
			<read/>&#13;
		</transition>&#13;
		<note><text>a sticky note</text><x>10.0</x><y>10.0</y></note>&#13;
	</automaton>&#13;
</structure>"""

# JFLAP 4: no <automaton>, no names, no positions. An odd number of 1s.
ODD = """<?xml version="1.0"?>
<structure>
 <type>fa</type>
 <state id="3"><initial/></state>
 <state id="5"><final/></state>
 <transition><from>3</from><to>3</to><read>0</read></transition>
 <transition><from>3</from><to>5</to><read>1</read></transition>
 <transition><from>5</from><to>5</to><read>0</read></transition>
 <transition><from>5</from><to>3</to><read>1</read></transition>
</structure>"""

# JFLAP 7: states are blocks, each with an empty machine of its own. As many a as b, after them; it goes back to the
# blank before the word, where Kleene's tape has ended.
A_N_B_N = """<?xml version="1.0" encoding="UTF-8" standalone="no"?><!--Created with JFLAP 7.0.--><structure>
	<type>turing</type>
	<automaton>
		<block id="0" name="first"><tag>Machine0</tag><x>100.0</x><y>100.0</y><initial/></block>
		<block id="1" name="seek"><tag>Machine1</tag><x>200.0</x><y>100.0</y></block>
		<block id="2" name="last"><tag>Machine2</tag><x>300.0</x><y>100.0</y></block>
		<block id="3" name="back"><tag>Machine3</tag><x>300.0</x><y>200.0</y></block>
		<block id="4" name="yes"><tag>Machine4</tag><x>100.0</x><y>200.0</y><final/></block>
		<transition><from>0</from><to>1</to><read>a</read><write/><move>R</move></transition>
		<transition><from>0</from><to>4</to><read/><write/><move>S</move></transition>
		<transition><from>1</from><to>1</to><read>a</read><write>a</write><move>R</move></transition>
		<transition><from>1</from><to>1</to><read>b</read><write>b</write><move>R</move></transition>
		<transition><from>1</from><to>2</to><read/><write/><move>L</move></transition>
		<transition><from>2</from><to>3</to><read>b</read><write/><move>L</move></transition>
		<transition><from>3</from><to>3</to><read>a</read><write>~</write><move>L</move></transition>
		<transition><from>3</from><to>3</to><read>b</read><write>b</write><move>L</move></transition>
		<transition><from>3</from><to>0</to><read/><write/><move>R</move></transition>
		<Machine0/><Machine1/><Machine2/><Machine3/><Machine4/>
	</automaton>
</structure>"""


def of_type(name: str, more: str = "") -> str:
    """A small file of some type."""
    return f'<structure><type>{name}</type>{more}<state id="0"><initial/></state></structure>'
